# frozen_string_literal: true

require "test_helper"
require "support/contrast"

class ReportHtmlColoursTest < TunerTest
  include Contrast

  # Letters and figures in bars are small: 4.5 to 1 (WCAG 2.2, 1.4.3).
  LEAST_CONTRAST = 4.5

  DARK = /@media \(prefers-color-scheme: dark\) \{((?:[^{}]*\{[^{}]*\})*)\s*\}/
  OTHER = /@media [^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}/

  # @return [Hash{String => String}] what each selector is filled with, the last rule for each
  def fills(css)
    variables = css.scan(/(--[\w-]+): (#\h+)/).to_h
    css.scan(/([^{}]+)\{\s*fill: ([^;}]+?);?\s*\}/).each_with_object({}) do |(selectors, colour), all|
      selectors.sub(%r{\A.*\*/}m, "").split(",").each { |selector| all[selector.strip] = variables.fetch(colour[/\Avar\((--[\w-]+)\)\z/, 1], colour) }
    end
  end

  # @yieldparam fills [Hash{String => String}]
  def each_scheme(path)
    css = File.read(File.join(PumaTuner::Report::Html::Page::ASSETS, path))
    dark = css.scan(DARK).join
    light = css.gsub(DARK, "").gsub(OTHER, "")
    yield "light", fills(light)
    yield "dark", fills(light + dark)
  end

  test "what stands in a report's bars can be read" do
    parts = %w[client queue gvl_wait preempted cpu gc io lock sleep]
    each_scheme("tuner.css") do |scheme, fills|
      parts.each { |part| assert_operator contrast(fills.fetch(".part-#{part}"), fills.fetch(".bars .on-#{part}")), :>=, LEAST_CONTRAST, "#{part} #{scheme}" }
    end
  end

  test "what stands in the bars of top's page can be read" do
    each_scheme("../../../top/web/page.css") do |scheme, fills|
      PumaTuner::Top::Screen::PARTS.each_key do |part|
        assert_operator contrast(fills.fetch(".part-#{part}"), fills[".on-#{part}"] || fills.fetch(".on")), :>=, LEAST_CONTRAST, "#{part} #{scheme}"
      end
    end
  end
end
