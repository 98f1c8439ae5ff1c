package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.launch.Containment;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Every boot of a sandbox has its own boot id; a pause in memory is not a boot. */
final class BootIdTest extends ForkTestBase {
  @Test
  void bootIdChangesWithEveryBoot() throws Exception {
    Sandbox sandbox = make("booted");
    try {
      String first = bootId(sandbox);
      assertThat(first).isNotEqualTo(Files.readString(Path.of(Containment.BOOT_ID)));
      Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
      if (pausing.kinds().contains(PauseKind.MEMORY)) {
        pausing.pause(PauseKind.MEMORY);
        pausing.resume();
        assertThat(bootId(sandbox)).isEqualTo(first);
      }
      pausing.pause(PauseKind.FILESYSTEM);
      pausing.resume();
      assertThat(bootId(sandbox)).isNotEqualTo(first);
      assertThat(
              output(sandbox, "echo x 2> /dev/null > " + Containment.BOOT_ID + " || echo denied"))
          .isEqualTo("denied\n");
    } finally {
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
    assertThat(leaks.leakedSince(before)).isEmpty();
  }

  private static String bootId(Sandbox sandbox) {
    String id = output(sandbox, "cat " + Containment.BOOT_ID);
    assertThat(id).matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n");
    return id;
  }
}
