/** A generation keeps how its cost is made up. Text, because COPY reads it faster than JSON; rows of an older version have none. */
export const bills = `
alter table lodestone.generations add column bill text;
`;
