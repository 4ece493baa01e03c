/** An on/off setting with its label and explanation. */
import { Root, Thumb } from '@radix-ui/react-switch';
import { type ReactNode, useId } from 'react';

export interface SwitchProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

export function Switch({ label, hint, checked, disabled, onChange }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex items-start justify-between gap-4">
      <div>
        <label className="text-sm font-medium text-ink" htmlFor={id}>
          {label}
        </label>
        {hint && (
          <p className="text-sm text-ink-3" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
      <Root
        aria-describedby={hint ? `${id}-hint` : undefined}
        checked={checked}
        disabled={disabled}
        className="mt-0.5 h-5 w-9 shrink-0 rounded-full border border-field bg-sunken transition-colors disabled:opacity-55 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
        id={id}
        onCheckedChange={onChange}
      >
        <Thumb className="block size-3.5 translate-x-0.5 rounded-full bg-ink-2 transition-transform data-[state=checked]:translate-x-4.5 data-[state=checked]:bg-accent-ink" />
      </Root>
    </div>
  );
}
