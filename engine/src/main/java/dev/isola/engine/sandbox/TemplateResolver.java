package dev.isola.engine.sandbox;

import dev.isola.document.request.TemplateReference;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.Startup;
import dev.isola.engine.api.TemplateView;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Completes a request that names a template. Values of the request take precedence.
 *
 * @param built returns a built template by name
 */
public record TemplateResolver(Function<String, TemplateView> built) {
  /**
   * Returns the request with the image, environment, user, working directory, limits, and start and
   * ready commands of its template; the request itself if it names none.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it also names an image
   * @throws dev.isola.spi.error.NotFound if there is no such template, or it has not been built
   */
  public SandboxRequest resolve(SandboxRequest request) {
    Optional<TemplateReference> reference =
        request.request().template().filter(one -> !one.isResolved());
    return reference.isEmpty() ? request : resolve(request, reference.get());
  }

  private SandboxRequest resolve(SandboxRequest request, TemplateReference reference) {
    SandboxSpec spec = request.request().spec();
    if (spec.image().isPresent()) {
      SpecValidation.throwIfInvalid(
          ErrorCode.INVALID_SPEC,
          "the spec",
          List.of(new Violation("template", "cannot be combined with image; use one of them")));
    }
    TemplateView template = built.apply(reference.name());
    SandboxSpec complete = complete(spec, template, reference);
    Startup startup = startup(request.startup(), complete, template);
    return request.withRequest(request.request().withResolvedSpec(complete)).withStartup(startup);
  }

  private static SandboxSpec complete(
      SandboxSpec spec, TemplateView template, TemplateReference reference) {
    SandboxSpec.Builder complete =
        spec.toBuilder().env(env(spec, template)).limits(limits(spec, template, reference));
    template.image().ifPresent(complete::image);
    if (spec.user().isEmpty() && !template.user().isEmpty()) {
      complete.user(template.user());
    }
    if (spec.cwd().isEmpty() && !template.cwd().isEmpty()) {
      complete.cwd(template.cwd());
    }
    return complete.build();
  }

  private static Startup startup(Startup before, SandboxSpec spec, TemplateView template) {
    Startup startup = before;
    if (template.start().isPresent()) {
      startup = startup.withStart(command(spec, template.start().get()));
    }
    if (template.ready().isPresent()) {
      startup = startup.withReady(command(spec, template.ready().get()));
    }
    return startup;
  }

  private static Command command(SandboxSpec spec, String text) {
    Command command = Startup.shell(text);
    command = spec.user().map(command::withUser).orElse(command);
    return spec.cwd().map(command::withCwd).orElse(command);
  }

  /** Merges the environments. A secret variable of the request replaces one of the template. */
  private static Map<String, String> env(SandboxSpec spec, TemplateView template) {
    Map<String, String> env = new LinkedHashMap<>(template.env());
    env.putAll(spec.env());
    env.keySet().removeAll(spec.secretEnv().keySet());
    return env;
  }

  private static ResourceLimits limits(
      SandboxSpec spec, TemplateView template, TemplateReference reference) {
    ResourceLimits limits = spec.limits();
    if (!reference.explicitCpu() && template.cpus().isPresent()) {
      limits = limits.withCpu(template.cpus().get());
    }
    if (!reference.explicitMemory() && template.memoryMb().isPresent()) {
      limits = limits.withMemoryMb(template.memoryMb().get());
    }
    return limits;
  }
}
