/** A generation keeps what its request asked for in `provider`. Text, because COPY reads it faster than JSON. */
export const requestPolicy = `
alter table lodestone.generations add column request_policy text;
`;
