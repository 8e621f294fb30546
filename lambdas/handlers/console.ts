import { badField } from '../error/httpError.ts';
import { handlerOf } from '../http/handler.ts';
import { finder } from '../http/findRoute.ts';
import { variable } from '../http/request.ts';
import { routesIn } from '../http/route.ts';
import { consoleRoutes } from '../http/routeTable.ts';
import { consoleFile, consolePage } from '../http/consoleFiles.ts';

export const handler = handlerOf<'console'>(
  {
    'GET /console': ({ request }) => {
      // The page refers to its files by relative paths.
      if (request.rawPath.endsWith('/')) {
        return { status: 308, body: new Uint8Array(), headers: { location: '../console' } };
      }
      if (request.query.some(([name]) => name === 'token')) {
        throw badField('A token does not belong in a URL. Open the console without it, and paste it there.');
      }
      return { status: 200, ...consolePage() };
    },
    'GET /console/{file}': (call) => ({
      status: 200,
      ...consoleFile(variable(call, 'file'), call.request.headers),
    }),
  },
  finder(routesIn('console', consoleRoutes)),
  [],
);
