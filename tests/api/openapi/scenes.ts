/** Sets up what an operation of the document needs, including ids that only the running gateway knows. */
import { builtinValues } from '../../../src/catalogue/builtin.js';
import type { Json, TestAccount } from '../../support/client.js';
import type { TestGateway } from '../../support/gateway.js';
import { proofOf } from '../../support/proofs.js';
import { signature } from '../../support/scripted-stripe.js';
import { signedFile, updateBody } from '../../support/signed-catalogues.js';

export interface Scene {
  gateway: TestGateway;
  caller: TestAccount;
}

/** Values of path and query parameters; the others are the document's examples. */
export type Parameters = Record<string, string>;

const messages = [{ role: 'user', content: 'Hello' }];

async function chat({ gateway, caller }: Scene, model: string): Promise<Json> {
  return (await gateway.chat({ model, messages }, { key: caller.key })).json as Json;
}

const generation = async (scene: Scene) => ({ id: (await chat(scene, 'sandbox/lodestone/echo')).id as string });

/** A generation whose receipt is in the log. */
const sealed = async (scene: Scene) => {
  const made = await generation(scene);
  await proofOf(scene.gateway, made.id, { key: scene.caller.key });
  return made;
};

const alias = async ({ gateway, caller }: Scene) => {
  await gateway.call('POST', '/v1/aliases', { name: 'fast', target: 'auto/lodestone/echo' }, { key: caller.key });
  return {};
};

const account = async ({ caller }: Scene) => ({ id: caller.accountId });

const keyOfAccount = async ({ caller }: Scene) => ({ id: caller.accountId, key_id: caller.keyId });

/** The caller gets a management key; the parameter is its first key. */
const managed = async ({ gateway, caller }: Scene) => {
  const body = { name: 'manager', kind: 'management' };
  caller.key = (await gateway.admin('POST', `/accounts/${caller.accountId}/keys`, body)).json.token;
  return { id: caller.keyId };
};

/** The caller gets a management key; the parameter is a project without keys. */
const project = async (scene: Scene) => {
  await managed(scene);
  const made = await scene.gateway.call('POST', '/v1/projects', { name: 'scene' }, { key: scene.caller.key });
  return { id: made.json.id as string };
};

const accountProject = async (scene: Scene) => ({
  id: scene.caller.accountId,
  project_id: (await project(scene)).id,
});

/** The caller gets a management key; the parameter is a credential that covers no route, so that no provider is called. */
const credential = async (scene: Scene) => {
  await managed(scene);
  const body = { provider: 'openai', name: 'scene', secret: { api_key: 'not-a-key' }, models: ['nobody/nothing'] };
  const made = await scene.gateway.call('POST', '/v1/credentials', body, { key: scene.caller.key });
  return { id: made.json.id as string };
};

const accountCredential = async (scene: Scene) => ({
  id: scene.caller.accountId,
  credential_id: (await credential(scene)).id,
});

let people = 0;
/** The account has a member, whom the parameter names. */
const memberOfAccount = async ({ gateway, caller }: Scene) => {
  const body = { email: `member-${++people}@example.test`, role: 'developer' };
  const { json } = await gateway.admin('POST', `/accounts/${caller.accountId}/members`, body);
  return { id: caller.accountId, member_id: json.id as string };
};

const person = async (scene: Scene) => ({ id: (await memberOfAccount(scene)).member_id });

const member = async (scene: Scene) => {
  await managed(scene);
  return person(scene);
};

/** An update with the built-in catalogue is in use. */
const updated = async ({ gateway }: Scene) => {
  const file = signedFile('2027.01.01', await builtinValues());
  await gateway.admin('POST', '/catalogue/updates', updateBody(file));
  return {};
};

/** Bodies that no document can have as examples. */
export const bodies: Record<string, () => unknown> = {
  updateCatalogue: () => updateBody(signedFile('2027.02.01'), { dry_run: true }),
};

export const scenes: Record<string, (scene: Scene) => Promise<Parameters>> = {
  listAliases: alias,
  getAlias: alias,
  repointAlias: alias,
  patchAlias: alias,
  deleteAlias: alias,
  listGenerations: async (scene) => {
    await generation(scene);
    await chat(scene, 'sandbox/lodestone/server-error');
    return { limit: '2' };
  },
  getGeneration: generation,
  getGenerationByQuery: generation,
  getReceiptProof: sealed,
  getAnyReceiptProof: sealed,
  getLog: sealed,
  getLogCheckpoint: sealed,
  rotateLogKey: sealed,
  getLogTile: async (scene) => {
    await sealed(scene);
    return { path: '0/000.p/1' };
  },
  getAccount: account,
  changeAccount: account,
  setPassword: account,
  createPasswordReset: account,
  resetTwoFactor: account,
  postCredit: account,
  getLedger: async (scene) => {
    await generation(scene);
    return account(scene);
  },
  listKeys: account,
  createKey: account,
  importKeys: account,
  getAccountKey: keyOfAccount,
  updateKey: keyOfAccount,
  deleteKey: keyOfAccount,
  listManagedKeys: managed,
  createManagedKey: managed,
  getManagedKey: managed,
  updateManagedKey: managed,
  deleteManagedKey: managed,
  getOwnAccount: managed,
  updateOwnAccount: managed,
  listProjects: managed,
  createProject: managed,
  getProject: project,
  updateProject: project,
  deleteProject: project,
  listProjectKeys: project,
  createProjectKey: project,
  getProjectRoutingPolicy: project,
  putProjectRoutingPolicy: project,
  deleteProjectRoutingPolicy: project,
  listAccountProjects: account,
  createAccountProject: account,
  getAccountProject: accountProject,
  updateAccountProject: accountProject,
  deleteAccountProject: accountProject,
  listCredentials: credential,
  createCredential: managed,
  getCredential: credential,
  updateCredential: credential,
  deleteCredential: credential,
  checkCredential: credential,
  listAccountCredentials: accountCredential,
  createAccountCredential: account,
  getAccountCredential: accountCredential,
  updateAccountCredential: accountCredential,
  deleteAccountCredential: accountCredential,
  checkAccountCredential: accountCredential,
  listMembers: member,
  getMember: member,
  updateMember: member,
  removeMember: member,
  listInvitations: managed,
  createInvitation: managed,
  revokeInvitation: async (scene) => {
    await managed(scene);
    const body = { email: 'invited@example.test', role: 'auditor' };
    const made = await scene.gateway.call('POST', '/v1/invitations', body, { key: scene.caller.key });
    return { id: made.json.id };
  },
  listAccountMembers: memberOfAccount,
  addAccountMember: account,
  getAccountMember: memberOfAccount,
  updateAccountMember: memberOfAccount,
  removeAccountMember: memberOfAccount,
  listPeople: person,
  getPerson: person,
  updatePerson: person,
  resetPersonPassword: person,
  linkPerson: person,
  resetPersonTwoFactor: person,
  listOwnAudit: managed,
  listCatalogueUpdates: updated,
  rollBackCatalogue: updated,
  liftHold: async (scene) => {
    await chat(scene, 'sandbox/lodestone/quota');
    return {};
  },
};

/** Headers without which an operation takes no body, made for the one that is sent. */
export const proofs: Record<string, (body: unknown) => Record<string, string>> = {
  receiveStripeEvent: (body) => ({
    'stripe-signature': signature(typeof body === 'string' ? body : JSON.stringify(body)),
  }),
};
