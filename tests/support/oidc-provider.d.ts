/** What the tests use of the npm package oidc-provider, which has no types. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: unknown, response: unknown) => unknown;
    on(event: string, listener: (...details: never[]) => void): void;
  }
}
