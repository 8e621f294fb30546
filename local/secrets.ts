/** AWS Secrets Manager for the local stage: reading and replacing secrets. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { answerJson, close, listen, readOperation } from './http.ts';

export interface Secrets {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const getSecretValue = z.object({ SecretId: z.string() });
const putSecretValue = z.object({ SecretId: z.string(), SecretString: z.string() });

/** @param secrets values by name */
export async function startSecrets(
  secrets: Map<string, string>,
  report: (error: unknown) => void,
): Promise<Secrets> {
  const { server, url } = await listen((request, response) => {
    answer(request, response).catch((error: unknown) => {
      report(error);
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = await readOperation(request);
    const put = putSecretValue.safeParse(operation?.input);
    if (operation?.name === 'PutSecretValue' && put.success && secrets.has(put.data.SecretId)) {
      secrets.set(put.data.SecretId, put.data.SecretString);
      answerJson(response, 200, contentType, { Name: put.data.SecretId }, headers());
      return;
    }
    const input = getSecretValue.safeParse(operation?.input);
    if (operation?.name !== 'GetSecretValue' || !input.success) {
      refuse(
        response,
        'InvalidRequestException',
        'The local stage only reads secrets: GetSecretValue with a SecretId.',
      );
      return;
    }
    const name = input.data.SecretId;
    const value = secrets.get(name);
    if (value === undefined) {
      refuse(response, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
      return;
    }
    answerJson(
      response,
      200,
      contentType,
      { Name: name, SecretString: value, VersionStages: ['AWSCURRENT'] },
      headers(),
    );
  }

  return { url, close: () => close(server) };
}

const contentType = 'application/x-amz-json-1.1';

function refuse(response: ServerResponse, type: string, message: string): void {
  answerJson(response, 400, contentType, { __type: type, Message: message }, headers());
}

function headers(): Record<string, string> {
  return { 'x-amzn-requestid': randomUUID() };
}
