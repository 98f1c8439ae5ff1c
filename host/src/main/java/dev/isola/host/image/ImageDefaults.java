package dev.isola.host.image;

import java.util.Map;
import java.util.Optional;

/** Defaults of an image for commands; see {@link Image}. */
record ImageDefaults(
    Map<String, String> env,
    Optional<String> user,
    Optional<String> workdir,
    Optional<String> architecture) {
  static final ImageDefaults NONE =
      new ImageDefaults(Map.of(), Optional.empty(), Optional.empty(), Optional.empty());
}
