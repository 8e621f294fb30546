/**
 * Protects a stage with `--dev`, whose token is public, from web pages. A browser sends the page's site with
 * each request; programs such as the published clients do not.
 */
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';
import { answerJson } from '../http.ts';

/** `localhost`, a name below it, an address of 127.0.0.0/8, or `[::1]`; with or without a port. */
const loopbackHost = /^(([a-z0-9-]+\.)*localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

const allowed =
  'With --dev, only programs on this machine and the page of the stage itself may use it, at localhost, *.localhost, 127.0.0.0/8 or [::1].';

export function refusalInDevMode(headers: IncomingHttpHeaders): string | undefined {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  // A web page can make its own host name point to this machine.
  if (!loopbackHost.test(host)) return `The request's Host is ${JSON.stringify(host)}. ${allowed}`;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return `The request's Origin is ${JSON.stringify(origin)}, which is another site. ${allowed}`;
  }
  if (site === 'cross-site') return `The request's Sec-Fetch-Site is "cross-site". ${allowed}`;
  return undefined;
}

export const guardDevMode =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const error = refusalInDevMode(request.headers);
    if (error === undefined) {
      listener(request, response);
      return;
    }
    const code: ErrorCode = 'foreign_site';
    // The body is read first, because a client reads the answer only after it has sent the body.
    request.resume();
    answerJson(response, 403, 'application/json', { error, code });
  };
