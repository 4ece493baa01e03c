/**
 * Keeps whether a credential whose secret was replaced has failed without having served since, so that another notice waits until it has,
 * whether or not the one before was delivered. An older version tells by the notices that it finds.
 */
export const noticedCredentials = `
alter table lodestone.credentials add column noticed boolean not null default false;
`;
