/**
 * Notifies listening processes of changes to projects and to the newer settings of accounts, as changes of the account.
 */
export const projectChanges = `
create trigger project_changed after insert or update or delete on lodestone.projects
  for each row execute function lodestone.announce_owner();
create trigger account_settings_changed after update of budget, settings_by_keys, record_end_users on lodestone.accounts
  for each row execute function lodestone.announce_account();
`;
