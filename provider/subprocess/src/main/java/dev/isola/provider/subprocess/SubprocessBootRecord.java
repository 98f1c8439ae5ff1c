package dev.isola.provider.subprocess;

import dev.isola.link.BootRecord;
import dev.isola.link.BootRecord.Namespaces;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.util.Map;

/** Builds the boot record from a spec. */
final class SubprocessBootRecord {
  private SubprocessBootRecord() {}

  /**
   * Returns the boot record.
   *
   * @param hidden the provider's folder with the secrets of all sandboxes, hidden where possible
   * @param namespaces of the agent when no volume requires them
   */
  static BootRecord create(
      SandboxSpec spec,
      SandboxRecord record,
      SandboxFolder folder,
      Path hidden,
      Namespaces namespaces) {
    BootRecord.Builder boot =
        BootRecord.forSpec(
                spec,
                record.instance(),
                record.secret(),
                Map.of("HOME", home(record, folder).toString()))
            .lock(folder.lock())
            .confine(record.workspace(), spec.workspaceMount())
            .hide(hidden)
            .keepVisible(home(record, folder))
            .user(spec.user())
            .namespaces(spec.volumes().isEmpty() ? namespaces : Namespaces.REQUIRED);
    for (VolumeMount volume : spec.volumes()) {
      boot.bind(Path.of(volume.source()), volume.destination(), volume.readOnly());
    }
    return boot.build();
  }

  /** Returns the home folder, which is removed with the sandbox. */
  static Path home(SandboxRecord record, SandboxFolder folder) {
    return record.ownWorkspace() ? record.workspace() : folder.home();
  }
}
