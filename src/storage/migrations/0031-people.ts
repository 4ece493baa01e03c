/** Adds to a person the identity provider that an operator has asked to link with the next sign-in. */
export const people = `
alter table lodestone.sign_in_users add column link_provider text;
`;
