/** Tabs with the keyboard support of the ARIA pattern. */
import { Content, List, Root, Trigger } from '@radix-ui/react-tabs';
import type { ReactNode } from 'react';

export interface Tab {
  value: string;
  label: string;
  content: ReactNode;
}

export function Tabs({ label, tabs, action }: { label: string; tabs: readonly Tab[]; action?: ReactNode }) {
  return (
    <Root defaultValue={tabs[0]?.value}>
      <div className="flex items-center justify-between gap-3 border-b border-line">
        <List aria-label={label} className="flex gap-4">
          {tabs.map((tab) => (
            <Trigger
              className="-mb-px h-9 border-b-2 border-transparent text-base text-ink-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
              key={tab.value}
              value={tab.value}
            >
              {tab.label}
            </Trigger>
          ))}
        </List>
        {action}
      </div>
      {tabs.map((tab) => (
        <Content className="pt-3" key={tab.value} value={tab.value}>
          {tab.content}
        </Content>
      ))}
    </Root>
  );
}
