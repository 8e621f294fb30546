/**
 * Characters that have no picture: those that turn the direction of a text, so that it reads as another than it is; those without
 * a width, save the joiners of emoji; and controls, save tabs and ends of lines.
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- Controls are what is looked for.
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d)/u;

/** A text in which characters that nobody sees stand as their code: `U+202E`. */
export const Visible = ({ text }: { readonly text: string }) => (
  <>
    {text.split(unseen).map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        <span key={index} class="unseen">
          U+{(part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}
        </span>
      ),
    )}
  </>
);
