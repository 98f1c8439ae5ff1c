package dev.isola.engine.config;

import dev.isola.document.NearMiss;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Takes values out of flags. The last one wins. */
final class FlagLayer {
  private static final Pattern PROVIDER = Pattern.compile("providers\\.([^.]+)\\.([^.]+)");

  private final List<Sources.FlagValue> flags;
  private final Layers layers;
  private final Names names;

  FlagLayer(List<Sources.FlagValue> flags, Layers layers, Names names) {
    this.flags = flags;
    this.layers = layers;
    this.names = names;
  }

  void read() {
    for (Sources.FlagValue flag : flags) {
      Origin origin = new Origin.Flag(flag.flag());
      Optional<Key<?>> key = Keys.named(flag.key());
      Matcher provider = PROVIDER.matcher(flag.key());
      if (key.isPresent()) {
        layers.put(key.get(), flag.value(), origin);
      } else if (provider.matches()) {
        Optional<String> type =
            provider.group(2).equals("type") ? Optional.of(flag.value()) : Optional.empty();
        names
            .configured(provider.group(1), type, origin)
            .ifPresent(name -> layers.put(name, provider.group(2), flag.value(), origin));
      } else if (flag.key().equals("pool") || flag.key().startsWith("pool[")) {
        layers.refuse(origin, "pool", "stands in the file only");
      } else {
        List<String> all = Keys.ALL.stream().map(Key::name).toList();
        layers.refuse(origin, flag.key(), "is not a key" + NearMiss.hint(flag.key(), all));
      }
    }
  }
}
