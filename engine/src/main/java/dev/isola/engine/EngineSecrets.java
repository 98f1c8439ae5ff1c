package dev.isola.engine;

import dev.isola.engine.api.secret.SecretService;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.secret.EncryptionKeys;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.engine.secret.SecretVariables;

/** What the ledger stores encrypted: named secrets, and secret variables of sandboxes. */
final class EngineSecrets {
  final SealedSettings sealed;
  final SecretEnvStore env;
  final SecretService service;
  final SecretVariables variables;

  EngineSecrets(EngineContext context) {
    Config config = context.config();
    EncryptionKeys keys =
        EncryptionKeys.open(
            config.get(ConfigKeys.DATA),
            config.get(ConfigKeys.SECRETS_KEY),
            config.get(ConfigKeys.SECRETS_OLD_KEY),
            System.getenv());
    if (keys.isRotating()) {
      context
          .log()
          .warning(
              "a rotation of the key for secrets was interrupted: run isola secrets rotate-key");
    }
    sealed = new SealedSettings(context.ledger(), keys);
    env = new SecretEnvStore(context.ledger(), sealed);
    service = new SecretService(sealed, context.clock());
    variables = new SecretVariables(service::bound);
  }
}
