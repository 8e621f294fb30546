import { useEffect, useState } from 'preact/hooks';
import { setLive, useLive } from '../api/live.ts';
import { Button, classes } from '../ui/basics.tsx';
import { away } from '../ui/time.tsx';

const secondMs = 1_000;

/** This clock continues while the page's other times are paused. */
function useClock(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, secondMs);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return now;
}

export function Following() {
  const { isOn, isLost, answeredAt } = useLive();
  const now = Math.max(useClock(), answeredAt ?? 0);
  return (
    <div class="following">
      <span class={classes(isLost && 'wrong')} role={isLost ? 'alert' : undefined}>
        {isLost ? (
          <>
            The service cannot be reached
            {answeredAt !== undefined && (
              <span aria-hidden="true">; this is from {away(answeredAt, now)}</span>
            )}
          </>
        ) : (
          answeredAt !== undefined && (
            <>
              <span class="wide">Updated </span>
              {away(answeredAt, now)}
            </>
          )
        )}
      </span>
      <Button
        kind="quiet"
        aria-pressed={isOn}
        title={isOn ? 'Stop loading new entries' : 'Load new entries again'}
        onClick={() => {
          setLive(!isOn);
        }}
      >
        Live
      </Button>
    </div>
  );
}
