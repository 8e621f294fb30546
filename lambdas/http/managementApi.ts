import { prefixOfBrand } from '../domain/dialect.ts';
import { notFound } from '../domain/httpError.ts';
import { authenticateOperator } from '../services/operator.ts';
import { settings } from '../settings.ts';
import { handlerOf, type Endpoints, type Middleware } from './handler.ts';
import { variable } from './request.ts';
import { findManagementRoute, type ManagementFunction } from './routes.ts';

/** The management API has its paths for each dialect; and whoever uses it shows who he is, each time. */
const operator: Middleware = {
  before: async ({ context: { call } }) => {
    if (call === undefined) return;
    const { request } = call;
    const prefix = prefixOfBrand(variable(call, 'brand'), settings.headerPrefixes);
    if (prefix === undefined) throw notFound(`There is no ${request.method} ${request.rawPath}.`);
    if (call.route.access === 'open') return;
    const authorization = request.headers.find(([name]) => name === 'authorization')?.[1];
    await authenticateOperator(authorization, request.callerIp);
  },
};

/** The Lambda handler of one function of the management API. */
export const managementApi = <F extends ManagementFunction>(endpoints: Endpoints<F>) =>
  handlerOf(endpoints, findManagementRoute, [operator]);
