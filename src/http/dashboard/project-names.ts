/** `GET project-names`: every project that the person reaches, to name and to choose from. The figures of each are at `projects`. */
import type { FastifyInstance } from 'fastify';
import { reaches } from '../../accounts/roles.js';
import { accountOf } from '../authenticate.js';
import { standingOf } from '../rights.js';

export function registerProjectNames(app: FastifyInstance): void {
  app.get('/project-names', async (request) => {
    const standing = standingOf(request);
    const reached = [...accountOf(request).projects.values()].filter(({ id }) => reaches(standing, id));
    return {
      object: 'list',
      data: reached.map(({ id, name, isDefault }) => ({ id, name, is_default: isDefault })),
    };
  });
}
