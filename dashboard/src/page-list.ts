/** All pages of the navigation, in order. To add a page, add a folder below pages/ and a line here. */
import type { ComponentType } from 'react';
import {
  AccountsIcon,
  AliasIcon,
  AuditIcon,
  AvailabilityIcon,
  BellIcon,
  CredentialIcon,
  CreditsIcon,
  FallbackIcon,
  HealthIcon,
  type Icon,
  ImportIcon,
  KeyIcon,
  MembersIcon,
  ModelIcon,
  OverviewIcon,
  PlaygroundIcon,
  PolicyIcon,
  ProjectsIcon,
  ServiceIcon,
  SettingsIcon,
  UsageIcon,
} from './components/icons.js';

export interface Page {
  path: string;
  title: string;
  icon: Icon;
  /** The right that the role needs for it. */
  right?: string;
  load: () => Promise<{ Page: ComponentType }>;
}

export interface PageGroup {
  title: string;
  /** Only for operators. */
  operator?: boolean;
  pages: readonly Page[];
}

/** What decides which pages somebody may open. */
export interface Reader {
  operator: boolean;
  /** False for an operator who is a member of no account. */
  hasAccount: boolean;
  /** The rights that the role does not have. */
  lacks: Partial<Record<string, string>>;
}

/** The groups with the pages that the reader may open. A page whose address is typed says why a role does not have it. */
export function groupsFor({ operator, hasAccount, lacks }: Reader): PageGroup[] {
  return pageGroups
    .filter((group) => (group.operator ? operator : hasAccount))
    .map((group) => ({ ...group, pages: group.pages.filter(({ right }) => right === undefined || !(right in lacks)) }))
    .filter(({ pages }) => pages.length > 0);
}

export const pageGroups: readonly PageGroup[] = [
  {
    title: 'Activity',
    pages: [
      { path: '/', title: 'Overview', icon: OverviewIcon, load: () => import('./pages/overview/overview-page.js') },
      { path: '/usage', title: 'Usage', icon: UsageIcon, load: () => import('./pages/usage/usage-page.js') },
      {
        path: '/credits',
        title: 'Credits',
        icon: CreditsIcon,
        right: 'credits.read',
        load: () => import('./pages/credits/credits-page.js'),
      },
    ],
  },
  {
    title: 'Build',
    pages: [
      {
        path: '/keys',
        title: 'Keys',
        icon: KeyIcon,
        right: 'keys.read',
        load: () => import('./pages/keys/keys-page.js'),
      },
      {
        path: '/credentials',
        title: 'Credentials',
        icon: CredentialIcon,
        right: 'credentials.read',
        load: () => import('./pages/credentials/credentials-page.js'),
      },
      { path: '/models', title: 'Models', icon: ModelIcon, load: () => import('./pages/models/models-page.js') },
      {
        path: '/playground',
        title: 'Playground',
        icon: PlaygroundIcon,
        right: 'playground',
        load: () => import('./pages/playground/playground-page.js'),
      },
    ],
  },
  {
    title: 'Routing',
    pages: [
      {
        path: '/aliases',
        title: 'Aliases',
        icon: AliasIcon,
        right: 'settings.read',
        load: () => import('./pages/aliases/aliases-page.js'),
      },
      {
        path: '/fallback',
        title: 'Fallback',
        icon: FallbackIcon,
        right: 'settings.read',
        load: () => import('./pages/fallback/fallback-page.js'),
      },
      {
        path: '/routing-policy',
        title: 'Routing policy',
        icon: PolicyIcon,
        right: 'settings.read',
        load: () => import('./pages/policy/policy-page.js'),
      },
    ],
  },
  {
    title: 'Organisation',
    pages: [
      {
        path: '/projects',
        title: 'Projects',
        icon: ProjectsIcon,
        right: 'projects.read',
        load: () => import('./pages/projects/projects-page.js'),
      },
      {
        path: '/members',
        title: 'Members',
        icon: MembersIcon,
        right: 'members.read',
        load: () => import('./pages/members/members-page.js'),
      },
      {
        path: '/settings',
        title: 'Account settings',
        icon: SettingsIcon,
        load: () => import('./pages/settings/settings-page.js'),
      },
      {
        path: '/notices',
        title: 'Notices',
        icon: BellIcon,
        right: 'credits.read',
        load: () => import('./pages/notices/notices-page.js'),
      },
      {
        path: '/audit-log',
        title: 'Audit log',
        icon: AuditIcon,
        right: 'audit.read',
        load: () => import('./pages/audit-log/audit-log-page.js'),
      },
    ],
  },
  {
    title: 'Operator',
    operator: true,
    pages: [
      {
        path: '/service',
        title: 'All usage',
        icon: ServiceIcon,
        load: () => import('./pages/service/service-page.js'),
      },
      {
        path: '/accounts',
        title: 'Accounts',
        icon: AccountsIcon,
        load: () => import('./pages/accounts/accounts-page.js'),
      },
      {
        path: '/route-health',
        title: 'Route health',
        icon: HealthIcon,
        load: () => import('./pages/route-health/route-health-page.js'),
      },
      {
        path: '/availability',
        title: 'Model availability',
        icon: AvailabilityIcon,
        load: () => import('./pages/availability/availability-page.js'),
      },
      {
        path: '/imports',
        title: 'Import report',
        icon: ImportIcon,
        load: () => import('./pages/imports/imports-page.js'),
      },
      { path: '/audit', title: 'All audit', icon: AuditIcon, load: () => import('./pages/audit/audit-page.js') },
    ],
  },
];
