package dev.isola.engine.config;

import dev.isola.document.field.Suggestion;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads values from command-line flags. The last occurrence of a flag wins. */
final class FlagLayer {
  private static final Pattern PROVIDER = Pattern.compile("providers\\.([^.]+)\\.([^.]+)");

  private final List<ConfigInput.FlagValue> flags;
  private final LayeredConfig layers;
  private final KnownProviders names;

  FlagLayer(List<ConfigInput.FlagValue> flags, LayeredConfig layers, KnownProviders names) {
    this.flags = flags;
    this.layers = layers;
    this.names = names;
  }

  void read() {
    for (ConfigInput.FlagValue flag : flags) {
      ValueOrigin origin = new ValueOrigin.Flag(flag.flag());
      Optional<ConfigKey<?>> key = ConfigKeys.find(flag.key());
      Matcher provider = PROVIDER.matcher(flag.key());
      if (key.isPresent()) {
        layers.put(key.get(), flag.value(), origin);
      } else if (provider.matches()) {
        Optional<String> type =
            provider.group(2).equals("type") ? Optional.of(flag.value()) : Optional.empty();
        names
            .resolveConfigured(provider.group(1), type, origin)
            .ifPresent(name -> layers.put(name, provider.group(2), flag.value(), origin));
      } else if (flag.key().equals("pool") || flag.key().startsWith("pool[")) {
        layers.reject(origin, "pool", "can be set only in the configuration file");
      } else {
        List<String> all = ConfigKeys.ALL.stream().map(ConfigKey::name).toList();
        layers.reject(origin, flag.key(), "is not a key" + Suggestion.hint(flag.key(), all));
      }
    }
  }
}
