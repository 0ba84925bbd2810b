/** Small parts that many views use. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { showToast } from "../store.js";

export function CopyButton({ text, label = "Copy" }: { readonly text: () => string; readonly label?: string }) {
  const [done, setDone] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(text()).then(
      () => {
        setDone(true);
        setTimeout(() => setDone(false), 1500);
      },
      () => showToast("The browser does not let this page copy.", true),
    );
  };
  return (
    <button type="button" class="quiet small" onClick={copy}>
      {done ? "Copied" : label}
    </button>
  );
}

const PATHS = {
  menu: "M2 4h12M2 8h12M2 12h12",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  left: "M10 3L5 8l5 5",
  right: "M6 3l5 5-5 5",
  send: "M8 13V3M4 7l4-4 4 4",
  stop: "M4 4h8v8H4z",
  panel: "M2 3h12v10H2zM10 3v10",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10zM11 11l3 3",
  read: "M4 2h6l3 3v9H4zM6 8h4M6 11h4",
  list: "M2 4h5l1 2h6v7H2z",
  edit: "M3 13l1-4 7-7 3 3-7 7z",
  run: "M3 4l4 4-4 4M8 12h5",
  fetch: "M8 2a6 6 0 100 12A6 6 0 008 2zM2 8h12M8 2c4 4 4 8 0 12M8 2c-4 4-4 8 0 12",
  plan: "M3 4l1 1 2-2M8 4h5M3 8l1 1 2-2M8 8h5M3 12l1 1 2-2M8 12h5",
  ask: "M3 3h10v7H8l-3 3v-3H3z",
  call: "M8 2l6 6-6 6-6-6z",
  thinking: "M8 2a5 5 0 00-2 9.500V13h4v-1.500A5 5 0 008 2zM6.500 15h3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function IconButton({
  name,
  label,
  onClick,
  pressed,
  disabled,
}: {
  readonly name: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={name} />
    </button>
  );
}

/** A window above the page; Esc and a click beside it close it, and the focus goes back. */
export function Dialog({
  label,
  onClose,
  children,
  kind = "",
}: {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly kind?: string;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** The value stays until it was the same for a moment. */
export function useLater<T>(value: T, ms: number): T {
  const [kept, keep] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => keep(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return kept;
}
