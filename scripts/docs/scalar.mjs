/** The script of the API reference, taken from the package that serves it, so that nothing is loaded from anywhere else. */
import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';

export async function scalarBundle() {
  const app = fastify();
  await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } });
  const answer = await app.inject('/reference/js/scalar.js');
  await app.close();
  if (answer.statusCode !== 200) throw new Error('the package of the API reference has no script where it had one');
  return answer.rawPayload;
}
