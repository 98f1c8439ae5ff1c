package dev.isola.compat.e2b.create;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.compat.e2b.template.CodeInterpreter;
import dev.isola.compat.e2b.template.E2bTemplate;
import dev.isola.engine.api.Startup;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import org.junit.jupiter.api.Test;

class TemplateStartupTest {
  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(new SandboxId("box")).user("user");
  }

  @Test
  void templateWithoutCommandsHasNoStartupAndMayComeFromTheWarmPool() {
    assertThat(TemplateStartup.of(E2bTemplate.of("base", "base"), spec().build()).isEmpty())
        .isTrue();
  }

  @Test
  void startCommandRunsAsTheTemplateUserInItsWorkingDirectory() {
    E2bTemplate template = E2bTemplate.of("web", "web").withStart("exec server");
    Command start = TemplateStartup.of(template, spec().build()).start().orElseThrow();
    assertThat(start.program()).isEqualTo("/bin/sh");
    assertThat(start.args().get(1)).contains("exec /bin/bash -l -c", "exec /bin/sh -l -c");
    assertThat(start.args()).endsWith("exec server");
    assertThat(start.user()).hasValue("user");
    assertThat(start.cwd()).hasValue("/home/user");
  }

  @Test
  void codeInterpreterIsReadyWhenItsPortAcceptsAConnection() {
    Startup startup =
        TemplateStartup.of(CodeInterpreter.template("code-interpreter", "base"), spec().build());
    assertThat(startup.start().orElseThrow().env()).containsKey("ISOLA_KERNEL");
    assertThat(startup.ready().orElseThrow().args().getLast()).contains("127.0.0.1/49999");
  }

  @Test
  void writableVolumesAreOwnedByTheUser() {
    SandboxSpec writable =
        spec().volume(new VolumeMount(VolumeMount.Type.VOLUME, "data", "/data", false)).build();
    SandboxSpec readOnly =
        spec().volume(new VolumeMount(VolumeMount.Type.VOLUME, "data", "/data", true)).build();
    E2bTemplate template = E2bTemplate.of("base", "base");
    assertThat(TemplateStartup.of(template, writable).volumeOwner()).hasValue("user");
    assertThat(TemplateStartup.of(template, readOnly).isEmpty()).isTrue();
  }
}
