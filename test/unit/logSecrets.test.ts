import { afterAll, expect, it, vi } from 'vitest';

// The logger writes to this process’s console, like on the local stage.
vi.stubEnv('POWERTOOLS_DEV', 'true');
vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
const { log } = await import('../../lambdas/aws/log.ts');
afterAll(() => vi.unstubAllEnvs());

it('an error about an unreadable URL is logged without its credentials and its query', () => {
  const line = vi.spyOn(console, 'error').mockReturnValue(undefined);
  try {
    try {
      void new URL('https://user:pa55word@host:99999/path?token=s3cret#more');
    } catch (error) {
      log.error('It failed', { error: error instanceof Error ? error : String(error) });
    }
    const [[text] = []] = line.mock.calls;
    expect(text).toContain('ERR_INVALID_URL');
    expect(text).toContain('https://host:99999/path');
    expect(text).not.toMatch(/pa55word|s3cret|user:/);
  } finally {
    line.mockRestore();
  }
});

it.each([
  ['https://u:p@h/x?y=1', 'https://h/x?…'],
  ['http://h:8080/a/b', 'http://h:8080/a/b'],
  ['no url', 'no url'],
])('the URL %s is logged as %s', (url, shown) => {
  const line = vi.spyOn(console, 'info').mockReturnValue(undefined);
  log.info('attempt', { url });
  const [[text] = []] = line.mock.calls;
  line.mockRestore();
  expect(JSON.parse(String(text))).toMatchObject({ url: shown });
});
