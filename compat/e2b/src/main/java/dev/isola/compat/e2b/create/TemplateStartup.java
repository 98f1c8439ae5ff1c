package dev.isola.compat.e2b.create;

import dev.isola.compat.e2b.template.CodeInterpreter;
import dev.isola.compat.e2b.template.E2bTemplate;
import dev.isola.engine.api.Startup;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.Optional;

/** Translates the commands of a template into a startup of the engine. */
public final class TemplateStartup {
  private TemplateStartup() {}

  /** Returns the startup of a sandbox that is created from the template with this spec. */
  public static Startup of(E2bTemplate template, SandboxSpec spec) {
    Startup startup = Startup.NONE;
    if (spec.user().isPresent() && spec.volumes().stream().anyMatch(TemplateStartup::isWritable)) {
      startup = startup.withVolumeOwner(spec.user().get());
    }
    if (template.start().isEmpty()) {
      return startup;
    }
    Command start = command(template, template.start().get());
    boolean kernel = CodeInterpreter.isStartOf(template);
    Optional<String> ready = kernel ? Optional.of(CodeInterpreter.READY) : template.ready();
    startup = startup.withStart(kernel ? CodeInterpreter.command(start) : start);
    return ready.isEmpty() ? startup : startup.withReady(command(template, ready.get()));
  }

  private static boolean isWritable(VolumeMount volume) {
    return volume.type() == VolumeMount.Type.VOLUME && !volume.readOnly();
  }

  private static Command command(E2bTemplate template, String text) {
    return Startup.shell(text).withUser(template.user()).withCwd(template.folder());
  }
}
