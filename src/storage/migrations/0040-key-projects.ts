/**
 * Keeps which project each key belongs to, also after the key is deleted. A key never changes its project, so sums of usage by key are sums
 * by project too, and the rollups need no column for it. Keys of the default project, and what an older version makes, have no row.
 */
export const keyProjects = `
create table lodestone.key_projects (
  id text primary key,
  project_id text collate "C" not null
);
insert into lodestone.key_projects (id, project_id) select id, project_id from lodestone.keys where project_id is not null;

create function lodestone.keep_key_project() returns trigger language plpgsql as $$
begin
  insert into lodestone.key_projects (id, project_id) values (new.id, new.project_id) on conflict (id) do nothing;
  return null;
end $$;
create trigger key_project_kept after insert on lodestone.keys
  for each row when (new.project_id is not null) execute function lodestone.keep_key_project();
`;
