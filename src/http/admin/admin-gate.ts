/** Checks the admin token in constant time. Failures are limited for each address, logged and audited. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tokenPrefix } from '../../accounts/keys/token.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { ExpectedToken } from './expected-token.js';

export function requireAdminToken(app: FastifyInstance, deps: HttpDeps): void {
  const gate = new AdminGate(deps);
  app.addHook('onRequest', (request) => gate.requireToken(request, request.origin.address));
}

export class AdminGate {
  private readonly expected: ExpectedToken;

  constructor(private readonly deps: Pick<HttpDeps, 'tokens' | 'adminLimiter' | 'audit' | 'logger'>) {
    if (deps.tokens.admin === '') throw new Error('the admin token is empty');
    this.expected = new ExpectedToken(() => deps.tokens.admin);
  }

  /** Throws admin_token_wrong or admin_rate_limited. `address` is the client's address. */
  async requireToken(request: FastifyRequest, address: string): Promise<void> {
    const { authorization = '' } = request.headers;
    const token = authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
    if (!this.isGuess(token) || !(await this.verify(token, request, address))) throw gatewayError('admin_token_wrong');
  }

  /** A missing token, or an API key sent by mistake, is no guess: it is refused and not counted. */
  private isGuess(token: string): boolean {
    return token !== '' && (!token.startsWith(tokenPrefix) || this.deps.tokens.admin.startsWith(tokenPrefix));
  }

  /** False where the token is wrong. Throws admin_rate_limited once the address has failed too often. */
  async verify(token: string, request: FastifyRequest, address: string): Promise<boolean> {
    const { adminLimiter } = this.deps;
    if (this.expected.isShownAs(token)) {
      await adminLimiter.admit(address);
      return true;
    }
    await adminLimiter.takeFailure(address);
    await this.recordFailure(request, address);
    return false;
  }

  /** The answer does not wait for the store. */
  private async recordFailure(request: FastifyRequest, address: string): Promise<void> {
    const { logger, audit, adminLimiter } = this.deps;
    const path = request.originalUrl.split('?', 1)[0]!.slice(0, 200);
    logger.warn({ request_id: request.id, address, path }, 'an admin authentication failed');
    if (await adminLimiter.mayAudit())
      void audit.record({ actor: 'anonymous', by: null, address }, 'admin.refused', address, {
        path,
        request_id: request.id,
      });
  }
}
