package dev.isola.provider.subprocess;

import dev.isola.link.BootRecord;
import dev.isola.link.BootRecord.Namespaces;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Builds the boot record from a spec. */
final class SubprocessBootRecord {
  private static final int RLIMIT_NOFILE = 7;

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
        BootRecord.builder(spec.id(), record.secret())
            .lock(folder.lock())
            .confine(record.workspace(), spec.workspaceMount())
            .hide(hidden)
            .keepVisible(home(record, folder))
            .cwd(spec.workingFolder())
            .user(spec.user())
            .env(environment(spec, record, folder))
            .rlimit(RLIMIT_NOFILE, spec.limits().fileDescriptors(), spec.limits().fileDescriptors())
            .namespaces(spec.volumes().isEmpty() ? namespaces : Namespaces.REQUIRED);
    spec.deadline().ifPresent(boot::deadline);
    spec.linger().ifPresent(boot::linger);
    for (VolumeMount volume : spec.volumes()) {
      boot.bind(Path.of(volume.source()), volume.destination(), volume.readOnly());
    }
    return boot.build();
  }

  /** Returns the home folder, which is removed with the sandbox. */
  static Path home(SandboxRecord record, SandboxFolder folder) {
    return record.ownWorkspace() ? record.workspace() : folder.home();
  }

  private static Map<String, String> environment(
      SandboxSpec spec, SandboxRecord record, SandboxFolder folder) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("HOME", home(record, folder).toString());
    env.put("LANG", "C.UTF-8");
    env.put("ISOLA_SANDBOX", record.id().value());
    env.put("ISOLA_INSTANCE", record.instance());
    env.putAll(spec.environment());
    return env;
  }
}
