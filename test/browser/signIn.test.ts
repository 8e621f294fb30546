import { describe, expect, it } from 'vitest';
import { makeAccount, manage, recordOf } from '../support/accounts.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { service } from '../support/service.ts';

describe('A user who opens the console', () => {
  it('signs in with a token, which is in no address, and which is lost with the tab', async () => {
    const page = await openConsole({ token: null });
    await page.getByLabel('Token').fill(`Bearer ${service.token}\n`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(page.url()).not.toContain(service.token);
    expect(await page.evaluate('JSON.stringify([localStorage, document.cookie])')).not.toContain(
      service.token,
    );
    await page.getByRole('link', { name: 'Dead letters' }).click();
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
    expect(page.url()).toBe(`${service.url}/console#/dead-letters`);
    // A reloaded page is still signed in, unless it signed out.
    await page.reload();
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  it('sees that a token is wrong, and stays on the page', async () => {
    const page = await openConsole({ token: null, at: '#/schedules', refusals: [401] });
    await page.getByLabel('Token').fill('nonsense');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The token is malformed').first().waitFor();
    expect(await page.getByLabel('Token').getAttribute('aria-invalid')).toBe('true');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Token').fill(service.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
  });

  it('signs in again if the token was replaced, and returns to the same page', async () => {
    const account = await makeAccount();
    const page = await openConsole({ token: account.token, at: '#/messages?state=FAILED', refusals: [401] });
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    const reset = recordOf(await manage('POST', `/v2/svc/rotate-token/${account.id}`));
    await page.getByRole('alert').getByText('The token is not valid.').waitFor();
    await page.getByLabel('Token').fill(reset.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    expect(page.url()).toContain('#/messages?state=FAILED');
  });
});
