package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.HostLeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.security.SecureRandom;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sandboxes of a runtime that does not isolate are refused, and nothing of them is left behind. */
class MisbehavingRuntimeTest {
  /** Runs a sandbox as a runtime does, but without isolation. */
  private static final String NO_ISOLATION =
      """
      import json, os
      words = json.load(open("/tmp/bundle/config.json"))["process"]["args"]
      os.system("mount -t proc proc /tmp/root/proc")
      os.chroot("/tmp/root")
      os.chdir("/")
      os.execv(words[0], words)
      """;

  private static final String SAYS =
      """
      #!/bin/sh
      case "$*" in *--version) echo "%s"; exit;; esac
      """;

  @BeforeEach
  void requireRoot() {
    if (!SandboxUserIds.rangesAvailable()) {
      Assumptions.abort("NOT RUN: OCI runtimes make sandboxes only as root");
    }
  }

  private static void needs(String program) {
    if (HostProgram.find(program).isEmpty()) {
      Assumptions.abort("NOT RUN: " + program + " is not installed");
    }
  }

  private static SandboxSpec spec(Duration timeout) {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .startupTimeout(timeout)
        .deadline(Duration.ofMinutes(1))
        .build();
  }

  private static void isRefused(String script, ProviderFactory factory, String because)
      throws Exception {
    try (ScriptedRuntime planted = new ScriptedRuntime(script)) {
      ProviderUnderTest underTest = planted.in(factory);
      try (Provider provider = underTest.open()) {
        HostLeakCheck leaks = HostLeakCheck.of(underTest);
        leaks.before();
        SandboxSpec spec = spec(Duration.ofSeconds(30));
        assertThatThrownBy(() -> provider.create(spec))
            .isInstanceOf(SandboxException.class)
            .hasMessageContaining(because);
        assertThat(provider.inventory()).isEmpty();
        assertThat(provider.health())
            .isInstanceOfSatisfying(
                Health.Unhealthy.class, ill -> assertThat(ill.reason()).contains(because));
        assertThat(leaks.after()).isEmpty();
      }
    }
  }

  private static String noIsolation(String version) {
    return SAYS.formatted(version) + "exec python3 -c '" + NO_ISOLATION + "'\n";
  }

  @Test
  void nonIsolatingCrunIsRejected() throws Exception {
    needs("python3");
    isRefused(noIsolation("crun version 1.30"), new CrunProviderFactory(), "not isolated by crun");
  }

  @Test
  void nonIsolatingRuncIsRejected() throws Exception {
    needs("python3");
    isRefused(noIsolation("runc version 1.4.3"), new RuncProviderFactory(), "not isolated by runc");
  }

  @Test
  void nonIsolatingGvisorIsRejected() throws Exception {
    needs("python3");
    isRefused(
        noIsolation("runsc version release-20240729.0"),
        new GvisorProviderFactory(),
        "not isolated by gvisor");
  }

  @Test
  void runcInPlaceOfGvisorIsRejected() throws Exception {
    needs("runc");
    String runc =
        SAYS.formatted("runsc version release-20240729.0")
            + """
            for mount in $(awk '$5 ~ "^/sys/fs/cgroup" {print $5}' /proc/self/mountinfo); do
              mount -o remount,bind,ro $mount
            done
            sed -i 's/"rbind", *"ro"/"rbind"/g' /tmp/bundle/config.json
            for id; do :; done
            exec runc --rootless=true --root=/tmp/state run --detach --bundle=/tmp/bundle $id
            """;
    isRefused(runc, new GvisorProviderFactory(), "its kernel is not gVisor's");
  }

  @Test
  void hangingRuntimeLeavesNothingBehind() throws Exception {
    String hangs = SAYS.formatted("crun version 1.30") + "sleep 1000 & wait\n";
    try (ScriptedRuntime planted = new ScriptedRuntime(hangs)) {
      ProviderUnderTest underTest = planted.in(new CrunProviderFactory());
      try (Provider provider = underTest.open()) {
        HostLeakCheck leaks = HostLeakCheck.of(underTest);
        leaks.before();
        SandboxSpec spec = spec(Duration.ofSeconds(1));
        assertThatThrownBy(() -> provider.create(spec)).hasMessageContaining("did not start");
        assertThat(provider.inventory()).isEmpty();
        assertThat(leaks.after()).isEmpty();
      }
    }
  }

  @Test
  void vulnerableRuntimeIsUnhealthy() throws Exception {
    try (ScriptedRuntime planted =
            new ScriptedRuntime(SAYS.formatted("runc version 1.1.5") + "exit 1\n");
        Provider provider = planted.in(new RuncProviderFactory()).open()) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              ill -> {
                assertThat(ill.reason()).contains("CVE-2024-21626");
                assertThat(ill.fix()).contains("1.3.6 or 1.4.3 or newer");
              });
    }
  }

  @Test
  void runtimeWithoutVersionIsUnhealthy() throws Exception {
    try (ScriptedRuntime planted = new ScriptedRuntime("#!/bin/sh\necho hello\n");
        Provider provider = planted.in(new CrunProviderFactory()).open()) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class, ill -> assertThat(ill.reason()).contains("--version"));
    }
  }
}
