package dev.isola.engine.template;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.TemplateReference;
import dev.isola.engine.api.TemplateView;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Completes a request that names a template: what the request says itself wins.
 *
 * @param built returns a template that was built, by name
 */
public record TemplateResolver(Function<String, TemplateView> built) {

  /**
   * Returns the request without its template, and a spec that has the image, the variables, the
   * user, the folder and the limits of it; the request itself when it names none.
   *
   * @throws dev.isola.spi.error.InvalidRequest when it names an image too
   * @throws dev.isola.spi.error.NotFound when there is no such template, or none that was built
   */
  public CreateRequest resolve(CreateRequest request) {
    return request.template().map(template -> resolve(request, template)).orElse(request);
  }

  private CreateRequest resolve(CreateRequest request, TemplateReference reference) {
    SandboxSpec spec = request.spec();
    if (spec.image().isPresent()) {
      SpecValidation.refuse(
          ErrorCode.INVALID_SPEC,
          "the spec",
          List.of(new Violation("template", "is given beside image; name one of them")));
    }
    TemplateView template = built.apply(reference.name());
    SandboxSpec.Builder complete =
        spec.toBuilder().env(env(spec, template)).limits(limits(spec, template, reference));
    template.image().ifPresent(complete::image);
    if (spec.user().isEmpty() && !template.user().isEmpty()) {
      complete.user(template.user());
    }
    if (spec.cwd().isEmpty() && !template.cwd().isEmpty()) {
      complete.cwd(template.cwd());
    }
    return request.resolved(complete.build());
  }

  /** A secret variable of the request takes the place of one of the template. */
  private static Map<String, String> env(SandboxSpec spec, TemplateView template) {
    Map<String, String> env = new LinkedHashMap<>(template.env());
    env.putAll(spec.env());
    env.keySet().removeAll(spec.secretEnv().keySet());
    return env;
  }

  private static ResourceLimits limits(
      SandboxSpec spec, TemplateView template, TemplateReference reference) {
    ResourceLimits limits = spec.limits();
    if (!reference.ownCpu() && template.cpus().isPresent()) {
      limits = limits.withCpu(template.cpus().get());
    }
    if (!reference.ownMemory() && template.memoryMb().isPresent()) {
      limits = limits.withMemoryMb(template.memoryMb().get());
    }
    return limits;
  }
}
