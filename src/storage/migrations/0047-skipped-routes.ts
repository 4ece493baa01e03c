/** A generation keeps the routes that were not tried, each with the reason. Text, because COPY reads it faster than JSON. */
export const skippedRoutes = `
alter table lodestone.generations add column skipped text;
`;
