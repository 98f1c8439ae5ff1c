package dev.isola.engine.api.template;

import dev.isola.document.recipe.Installer;

/**
 * Shell scripts that install the packages in their arguments: without questions, and without caches
 * that an image does not need.
 */
final class InstallScripts {
  private static final String APT_GET =
      """
      apt() { apt-get -o APT::Sandbox::User=root -o Dpkg::Options::=--force-confold "$@"; }
      export DEBIAN_FRONTEND=noninteractive
      apt update
      apt install -y --no-install-recommends -- "$@"
      apt clean
      rm -rf /var/lib/apt/lists/*
      """;

  private static final String SYSTEM =
      """
      set -e
      if command -v apt-get >/dev/null; then
      %s
      elif command -v apk >/dev/null; then
        apk add --no-cache -- "$@"
      else
        echo "the image has neither apt-get nor apk" >&2; exit 1
      fi
      """
          .formatted(APT_GET);

  private static final String APT =
      """
      set -e
      if ! command -v apt-get >/dev/null; then
        echo "the image has no apt-get; use a base of Debian or Ubuntu" >&2; exit 1
      fi
      %s
      """
          .formatted(APT_GET);

  private static final String PIP =
      """
      set -e
      export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
      export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
      if command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; then
        python3 -m pip install -- "$@"
      elif command -v pip >/dev/null; then
        pip install -- "$@"
      else
        echo "the image has no pip; use the base python, or install python3-pip by apt" >&2; exit 1
      fi
      """;

  private static final String NPM =
      """
      set -e
      if ! command -v npm >/dev/null; then
        echo "the image has no npm; use the base node, or install nodejs and npm by apt" >&2; exit 1
      fi
      export npm_config_cache=/tmp/isola-npm npm_config_yes=true
      npm install --global --no-fund --no-audit --no-update-notifier -- "$@"
      rm -rf /tmp/isola-npm
      """;

  private InstallScripts() {}

  static String of(Installer installer) {
    return switch (installer) {
      case SYSTEM -> SYSTEM;
      case APT -> APT;
      case PIP -> PIP;
      case NPM -> NPM;
    };
  }
}
