/** An agent: a client of the Model Context Protocol, connected to `svc-queue mcp` as to a program on its machine. */
import { tmpdir } from 'node:os';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { inject } from 'vitest';
import * as z from 'zod/mini';
import { service } from './publish.ts';

const answer = z.object({
  isError: z.optional(z.boolean()),
  content: z.tuple([z.object({ text: z.string() })]),
});

interface AgentInit {
  readonly args?: readonly string[];
  readonly token?: string;
  /** The person's answer. Without it the client cannot ask. */
  readonly agrees?: boolean;
}

export async function startAgent({ args = [], token = service.token, agrees }: AgentInit = {}) {
  const questions: string[] = [];
  const client = new Client(
    { name: 'agent', version: '1' },
    { capabilities: agrees === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (agrees !== undefined)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return { action: 'accept', content: { agree: agrees } };
    });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [inject('bundledStage'), 'mcp', ...args],
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'] ?? '', SVC_URL: service.url, SVC_TOKEN: token },
    }),
  );
  const use = async (name: string, given: Readonly<Record<string, unknown>> = {}) => {
    const { isError = false, content } = answer.parse(await client.callTool({ name, arguments: given }));
    return { isError, text: content[0].text };
  };
  return {
    questions,
    tools: async () => (await client.listTools()).tools,
    /** Uses a tool, which may fail. */
    use,
    /** Uses a tool, and reads its answer. */
    get: async <T>(
      shape: z.ZodMiniType<T>,
      name: string,
      given?: Readonly<Record<string, unknown>>,
    ): Promise<T> => {
      const { isError, text } = await use(name, given);
      if (isError) throw new Error(text);
      return shape.parse(JSON.parse(text));
    },
    close: () => client.close(),
  };
}
