/**
 * Sessions: the token becomes its SHA-256, so that a copy of the store opens none of them; people stay signed in. Operator
 * rights by the admin token get an end and a proof that names neither the token nor the session's; `operator` is no longer read.
 */
export const sessions = `
alter table lodestone.sign_in_sessions add column operator_until timestamptz, add column operator_proof text;
update lodestone.sign_in_sessions set token = encode(sha256(convert_to(token, 'UTF8')), 'hex');
`;
