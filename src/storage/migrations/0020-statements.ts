/**
 * Gives the entry that takes the place of a pruned month its own kind. Only such entries were posted as usage: usage of requests is never
 * posted. An older version that prunes beside this one still posts them as usage, so a trigger corrects the kind.
 */
export const statements = `
update lodestone.ledger_posts set kind = 'statement' where kind = 'usage';

create function lodestone.post_statement() returns trigger language plpgsql as $$
begin
  new.kind := 'statement';
  return new;
end $$;
create trigger ledger_post_statement before insert on lodestone.ledger_posts
  for each row when (new.kind = 'usage') execute function lodestone.post_statement();

alter table lodestone.ledger_posts add constraint ledger_posts_kind check (kind in ('credit', 'adjustment', 'statement'));
`;
