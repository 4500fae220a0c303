import type { StoreCredentials } from '../store/index.js';

/** Runs with no AWS settings but those given: nothing of the machine that runs the test has a say. */
export async function withAwsEnv<T>(settings: Record<string, string>, run: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) delete process.env[name];
  }
  Object.assign(process.env, {
    AWS_CONFIG_FILE: '/nonexistent/config',
    AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...settings,
  });
  try {
    return await run();
  } finally {
    for (const name of Object.keys(process.env)) {
      if (!(name in before)) delete process.env[name];
    }
    Object.assign(process.env, before);
  }
}

export function keysOf({
  accessKeyId,
  secretAccessKey,
  sessionToken,
}: StoreCredentials): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ...(sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: sessionToken }),
  };
}
