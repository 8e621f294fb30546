import { prefixOfBrand } from '../request/dialect.ts';
import { notFound } from '../error/httpError.ts';
import { learnHost, refuseOwnDelivery } from '../delivery/loopDetection.ts';
import { authenticateManager } from '../management/authenticateManager.ts';
import { settings } from '../aws/settings.ts';
import { handlerOf, type Endpoints, type Middleware, type RoutesOf } from './handler.ts';
import { variable } from './request.ts';
import { finder } from './findRoute.ts';
import { type ManagementFunction, routesIn } from './route.ts';

const manager: Middleware = {
  before: async ({ context: { call } }) => {
    if (call === undefined) return;
    const { request } = call;
    const prefix = prefixOfBrand(variable(call, 'brand'), settings.headerPrefixes);
    if (prefix === undefined)
      throw notFound('path_not_found', `There is no ${request.method} ${request.rawPath}.`);
    if (call.route.access === 'open') return;
    const authorization = request.headers.find(([name]) => name === 'authorization')?.[1];
    await authenticateManager(authorization, request.callerIp);
    await learnHost('management', request.host);
    await refuseOwnDelivery(call.canonical, request.rawPath);
  },
};

export const managementApi = <F extends ManagementFunction>(
  name: F,
  own: RoutesOf<F>,
  endpoints: Endpoints<F>,
) => handlerOf(endpoints, finder(routesIn(name, own)), [manager]);
