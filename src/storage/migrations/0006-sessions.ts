/**
 * Replaces session tokens by their SHA-256, so that a copy of the store opens no session; users stay signed in. Operator
 * rights from the admin token get an end and a proof that reveals neither the token nor the session's; `operator` is no
 * longer read.
 */
export const sessions = `
alter table lodestone.sign_in_sessions add column operator_until timestamptz, add column operator_proof text;
update lodestone.sign_in_sessions set token = encode(sha256(convert_to(token, 'UTF8')), 'hex');
`;
