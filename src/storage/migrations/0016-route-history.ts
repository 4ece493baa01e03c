/**
 * Counts the failed attempts of routes, which no generation of another route shows, and keeps the times in which a route was not tried.
 * Failures are counted by hour and by day, as in the rollups of usage.
 */
export const routeHistory = `
create table lodestone.route_failures (
  route text not null,
  account_id text not null,
  hours smallint not null,
  from_hour integer not null,
  failed bigint not null,
  primary key (route, account_id, hours, from_hour)
);
create index route_failures_time on lodestone.route_failures (hours, from_hour);

-- One row for each process that saw it. A process that has died sees nothing any more: seen_ms then is the end.
create table lodestone.route_incidents (
  id text primary key,
  kind text not null,
  route text not null,
  from_ms bigint not null,
  seen_ms bigint not null,
  to_ms bigint
);
create index route_incidents_seen on lodestone.route_incidents (seen_ms);
`;
