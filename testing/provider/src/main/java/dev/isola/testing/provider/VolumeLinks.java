package dev.isola.testing.provider;

import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Simulates a volume that is mounted on a link in another volume: commands that use the target of
 * the link see the volume there. Nothing is mounted.
 *
 * @param sources the folder of the volume by target of the link
 */
record VolumeLinks(Map<String, String> sources) {
  static final VolumeLinks NONE = new VolumeLinks(Map.of());

  static VolumeLinks of(SandboxSpec spec) {
    Map<String, String> sources = new HashMap<>();
    for (VolumeMount outer : spec.volumes()) {
      for (VolumeMount inner : spec.volumes()) {
        if (inner.destination().startsWith(outer.destination() + "/")) {
          String name = inner.destination().substring(outer.destination().length() + 1);
          Path link = Path.of(outer.source(), name);
          if (Files.isSymbolicLink(link)) {
            sources.put(target(link), inner.source());
          }
        }
      }
    }
    return new VolumeLinks(Map.copyOf(sources));
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Command shownTo(Command command) {
    return new Command(
        command.mode(),
        command.program(),
        command.args().stream().map(this::shown).toList(),
        command.env(),
        command.cwd(),
        command.user(),
        command.stdin(),
        command.timeout(),
        command.tag());
  }

  private String shown(String argument) {
    List<String> targets =
        sources.keySet().stream().filter(target -> argument.startsWith(target + "/")).toList();
    return targets.isEmpty()
        ? argument
        : sources.get(targets.getFirst()) + argument.substring(targets.getFirst().length());
  }
}
