package dev.isola.engine.config;

import dev.isola.spi.spec.NetworkMode;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Network modes, in a file as a list or separated by commas. {@code host} is none of them: it has a
 * setting of its own.
 */
record NetworkModes() implements ValueType<Set<NetworkMode>> {
  private static final EnumType<NetworkMode> MODE = new EnumType<>(NetworkMode.class);

  @Override
  public Set<NetworkMode> read(Object raw) throws InvalidValueException {
    List<Object> parts =
        new ArrayList<>(raw instanceof List<?> list ? list : List.of(raw.toString().split(",")));
    Set<NetworkMode> modes = EnumSet.noneOf(NetworkMode.class);
    for (Object part : parts) {
      modes.add(MODE.read(part instanceof String text ? text.strip() : part));
    }
    if (modes.contains(NetworkMode.HOST)) {
      throw new InvalidValueException("must not contain host; use allow_host_network");
    }
    return modes;
  }

  @Override
  public String show(Set<NetworkMode> value) {
    return value.stream()
        .sorted()
        .map(mode -> mode.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(","));
  }

  @Override
  public String description() {
    return "none, filtered and bridge, with commas between them";
  }
}
