import { describe, expect, it } from 'vitest';
import { errorTable } from '../../../src/errors/error-table.js';
import type { ErrorRow } from '../../../src/errors/row.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { documentedConditions, errorSchemaName } from '../../../src/http/openapi/errors.js';
import { headers } from '../../../src/http/openapi/headers.js';
import { exposedHeaders } from '../../../src/http/server/headers.js';
import { httpFixture } from '../../support/http-fixture.js';

/** Pages, and the dashboard's own API, which is no part of the public one. */
const notDescribed = /^\/(docs|dashboard)(\/|$)/;
const unnamed = (path: string) => path.replace(/\{[^}]+\}|:[^/]+|\*/g, '{}');

describe('the OpenAPI document', () => {
  it('has every path and method that the server knows, and no other', async () => {
    const { app } = await httpFixture();
    const known = app.knownPaths
      .all()
      .filter(({ pattern }) => !notDescribed.test(pattern))
      .flatMap(({ pattern, methods }) => methods.map((method) => `${method} ${unnamed(pattern)}`))
      .filter((line) => !line.startsWith('HEAD '));
    const described = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${unnamed(path)}`),
    );
    expect(described.sort()).toEqual(known.sort());
    await app.close();
  });

  it('declares every row of the error table at an operation that can end in it', () => {
    const text = JSON.stringify([openApiDocument.paths, openApiDocument.components.responses]);
    const nowhere = documentedConditions.filter(
      (name) => !text.includes(`"#/components/schemas/${errorSchemaName(name)}"`),
    );
    expect(nowhere).toEqual([]);
  });

  it('describes every header that a caller may rely on', () => {
    expect(Object.keys(headers)).toEqual(expect.arrayContaining([...exposedHeaders]));
    const text = JSON.stringify(openApiDocument.paths);
    for (const name of exposedHeaders) expect(text).toContain(`"#/components/headers/${name}"`);
  });

  const ids = Object.values(openApiDocument.paths).flatMap((item) => Object.values(item).map((one) => one.operationId));

  it('gives every operation an id of its own', () => {
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has every operation that a row of the error table names', () => {
    const rows = Object.entries<Pick<ErrorRow<never>, 'operations'>>(errorTable);
    const named = rows.flatMap(([condition, { operations = [] }]) => operations.map((id) => ({ condition, id })));
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ id }) => !ids.includes(id))).toEqual([]);
  });
});
