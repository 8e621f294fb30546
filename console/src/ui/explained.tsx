import { documentUrl, type Problem } from '../api/client.ts';

/** A sentence about an error, and a link to the page of the documents that explains its code. */
export const Explained = ({ error: { sentence, code } }: { readonly error: Problem }) => (
  <>
    {sentence}
    {code !== undefined && (
      <>
        {' '}
        <a href={documentUrl('errors', code).href} target="_blank" rel="noopener">
          About this error
        </a>
      </>
    )}
  </>
);
