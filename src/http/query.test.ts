import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { timeOrderedId } from '../base/ids.js';
import { pageOf } from './query.js';

const projects = [1, 2, 3, 4, 5].map((day) => ({ id: `proj-${timeOrderedId(day * 86_400_000)}` }));

const page = (all: typeof projects, query: object) =>
  pageOf({ query } as FastifyRequest, all, 'project').map((each) => projects.indexOf(each));

describe('a page of a list', () => {
  it('goes on after an entry that is gone, also the last one', () => {
    const left = projects.filter((_, index) => index !== 1 && index !== 4);
    expect(page(left, { after: projects[1]!.id })).toEqual([2, 3]);
    expect(page(left, { after: projects[1]!.id, limit: '1' })).toEqual([2]);
    expect(page(left, { after: projects[4]!.id })).toEqual([]);
    expect(page([], { after: projects[4]!.id })).toEqual([]);
  });

  it.each(['proj-x', 'x', `cred-${timeOrderedId(1)}`, projects[1]!.id.toUpperCase()])(
    'does not go on after %s',
    (after) => {
      expect(() => page(projects, { after })).toThrow('no project with this id');
    },
  );
});
