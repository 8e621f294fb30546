import { close, listen } from '../../local/http.ts';

/** Another API's answer. The body is sent as JSON, unless it is a text. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface OtherApi {
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts an API with the test's answers.
 *
 * @param answer gets the method and path, and the number of earlier requests like this
 */
export async function startOtherApi(answer: (asked: string, times: number) => Reply): Promise<OtherApi> {
  const asked: string[] = [];
  const { server, url } = await listen((request, response) => {
    const what = `${request.method ?? ''} ${request.url ?? ''}`;
    const {
      status = 200,
      headers = {},
      body = [],
    } = answer(what, asked.filter((one) => one === what).length);
    asked.push(what);
    request.resume().once('end', () => {
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  return {
    url,
    asked,
    close: () => close(server),
  };
}
