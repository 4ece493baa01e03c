/** The credentials of an account as `/v1/credentials`, the dashboard and the admin API show and change them. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/audit.js';
import { noSuchCredential } from '../../accounts/credentials/credential-book.js';
import type { Account } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { StoredCredential } from '../../storage/store.js';
import type { HttpDeps } from '../deps.js';
import { pageOf } from '../query.js';
import {
  changeOf,
  checkSecret,
  credentialChange,
  credentialJson,
  fieldFault,
  newCredential,
  readFields,
} from './credential-fields.js';

/** The one project whose credentials the caller reaches; null for all of the account. */
type Reach = string | null;

export class CredentialRecords {
  constructor(private readonly deps: HttpDeps) {}

  /** The oldest first. */
  async list(request: FastifyRequest, account: Account, reach: Reach = null) {
    await this.deps.credentials.written();
    const all = (await this.deps.directory.credentials.list(account)).filter((each) => reaches(reach, each));
    const shown = pageOf(
      request,
      all.map((each) => ({ ...each, id: each.credential.id })),
      'credential',
    );
    return { object: 'list', data: shown.map(credentialJson) };
  }

  async one(account: Account, id: string, reach: Reach = null) {
    await this.deps.credentials.written();
    return credentialJson(await this.find(account, id, reach));
  }

  async create(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>, reach: Reach = null) {
    const { provider, secret, project = null, ...fields } = readFields(request, newCredential);
    const checked = checkSecret(request, this.snapshot(), provider, secret);
    const account = await accountOf();
    if (reach !== null && project === null) throw gatewayError('whole_account_key_required');
    if (project !== null && (!account.projects.has(project) || (reach !== null && reach !== project)))
      throw fieldFault(request, 'project', `is "${project.slice(0, 100)}", but there is no project with this id`);
    const { use = 'only', models = null, agreement = null, name } = fields;
    const made = { provider, projectId: project, name, use, models, agreement, secret: checked };
    return credentialJson(await this.deps.directory.credentials.create(actor, account, made));
  }

  async update(request: FastifyRequest, actor: Actor, account: Account, id: string, reach: Reach = null) {
    const { secret, ...fields } = readFields(request, credentialChange);
    const { credential } = await this.find(account, id, reach);
    const checked = secret && checkSecret(request, this.snapshot(), credential.provider, secret);
    const change = { ...changeOf(fields), ...(checked && { secret: checked }) };
    return credentialJson(await this.deps.directory.credentials.update(actor, account, id, change));
  }

  async delete(actor: Actor, account: Account, id: string, reach: Reach = null): Promise<void> {
    await this.find(account, id, reach);
    await this.deps.directory.credentials.delete(actor, account, id);
  }

  /** One cheap call with the credential. */
  async check(account: Account, id: string, reach: Reach = null) {
    const { credential } = await this.find(account, id, reach);
    const check = await this.deps.credentials.check(credential);
    await this.deps.credentials.written();
    return { ...credentialJson(await this.find(account, id, reach)), check };
  }

  private async find(account: Account, id: string, reach: Reach): Promise<StoredCredential> {
    const found = await this.deps.directory.credentials.find(account, id);
    if (!reaches(reach, found)) throw noSuchCredential(id);
    return found;
  }

  private snapshot() {
    const { current } = this.deps.catalogue;
    if (!current) throw gatewayError('service_unavailable');
    return current;
  }
}

function reaches(reach: Reach, { credential }: StoredCredential): boolean {
  return reach === null || credential.projectId === reach;
}
